import type { PublishView, RefusalView } from '../../server/console/deployment.js';
import { Age } from './age';
import { ReleaseName } from './deployment-table';
import { OutsideId } from './names';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { counted } from '~/format/count';
import { errorMeaning } from '~/format/error-words';
import { askerWords, refusalWords } from '~/format/publish-words';
import type { Shape as ShapeName, Tone } from '~/format/state';

const looks: Record<PublishView['outcome'], { word: string; tone: Tone; shape: ShapeName }> = {
  building: { word: 'building', tone: 'held', shape: 'block' },
  live: { word: 'went live', tone: 'done', shape: 'tick' },
  failed: { word: 'failed', tone: 'failed', shape: 'cross' },
  lost: { word: 'lost', tone: 'stale', shape: 'alert' },
};

/** Every publish, newest first, each with its own error. */
export function Publishes({ attempts, more }: { attempts: PublishView[]; more: boolean }) {
  return (
    <Section title="Publishes" aside={more ? `newest ${attempts.length} shown, there are older ones` : counted(attempts.length, 'publish', 'publishes')}>
      <ol className="card timeline">{attempts.map((attempt) => <Publish key={attempt.publishNo} attempt={attempt} />)}</ol>
    </Section>
  );
}

function Publish({ attempt }: { attempt: PublishView }) {
  const look = looks[attempt.outcome];
  return (
    <li className={`tone-${look.tone}`} data-publish={attempt.publishNo} data-outcome={attempt.outcome}>
      <Shape name={look.shape} />
      <div className="min-w-0">
        <p><b>#{attempt.publishNo}</b> {look.word}{attempt.release ? <>: <ReleaseName release={attempt.release} /></> : null}
          {attempt.outcome !== 'building' && attempt.errorCode ? <span className="soft">: <bdi className="mono">{attempt.errorCode}</bdi>{errorMeaning(attempt.errorCode) ? ` · ${errorMeaning(attempt.errorCode)}` : ''}</span> : null}</p>
        {attempt.outcome !== 'building' && attempt.errorMessage ? <p className="soft text-[12.5px] wrap-anywhere"><bdi>{attempt.errorMessage}</bdi></p> : null}
        <p className="dim text-[12.5px]">asked for by {askerWords(attempt.requestedBy)} <Who userId={attempt.userId} source={attempt.source} /></p>
      </div>
      <span className="soft whitespace-nowrap"><Age at={attempt.endedAt ?? attempt.requestedAt} suffix=" ago" /></span>
    </li>
  );
}

/** Who asked while somebody else had the lock, or under a name that could not be. */
export function Refusals({ refusals, more, current }: { refusals: RefusalView[]; more: boolean; current: number }) {
  const meanwhile = refusals.filter((refusal) => refusal.publishNo === current).length;
  return (
    <Section title="Refused" aside={refusals.length === 0 ? 'nobody' : `${more ? 'newest shown' : counted(refusals.length, 'request')}${meanwhile > 0 ? `, ${meanwhile} during publish #${current}` : ''}`}>
      {refusals.length === 0 ? <p className="card dim px-[14px] py-3">Nobody was refused. Requests that come while a publish runs are listed here; they never start one of their own.</p> : (
        <ol className="card timeline">{refusals.map((refusal) => (
          <li key={refusal.id} className="tone-low" data-refusal={refusal.code}>
            <Shape name="dash" />
            <div className="min-w-0">
              <p>{askerWords(refusal.requestedBy)} <Who userId={refusal.userId} source={refusal.source} />: <span className="soft">{refusalWords(refusal.code)}</span></p>
              {refusal.publishNo !== null ? <p className="dim text-[12.5px]">told of publish #{refusal.publishNo} · <span className="mono">{refusal.code}</span></p> : null}
            </div>
            <span className="soft whitespace-nowrap"><Age at={refusal.at} suffix=" ago" /></span>
          </li>
        ))}</ol>
      )}
    </Section>
  );
}

function Who({ userId, source }: { userId: string; source: string | null }) {
  return <><span className="whitespace-nowrap">(<OutsideId id={userId} width="18ch" />{source ? ',' : ')'}</span>{source ? <span className="whitespace-nowrap"> <OutsideId id={source} width="18ch" />)</span> : null}</>;
}
