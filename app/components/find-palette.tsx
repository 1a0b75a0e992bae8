import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import type { KeyboardEvent, RefObject } from 'react';
import { useCallback, useState } from 'react';
import type { FindGroup } from '../../server/console/find-view.js';
import { HitLine } from './find-hit';
import { onEarlyEscape } from '~/early-escape';
import { findPath, groupTitles, hitPath, moreWords, nameLimit, type Place } from '~/format/find-words';
import { useHits, type Hits } from '~/find-hits';
import type { Recent } from '~/find-recent';

interface Props {
  /** What was typed before its field had the focus. */
  early: RefObject<string | null>;
  /** What had the focus before, and gets it back, unless a key has given it to something else meanwhile. */
  before: RefObject<Element | null>;
  recent: Recent;
  places: readonly Place[];
  /** Leads there; `searched` is kept among the recent searches unless it is empty. */
  onOpen: (path: string, searched: string) => void;
  onClose: () => void;
}

/** Search from anywhere. The first entry is always the answer to what is typed now; the hits below it follow the typing. */
export default function FindPalette({ early, before, recent, places, onOpen, onClose }: Props) {
  const [text, setText] = useState(early.current ?? '');
  const typed = text.trim();
  const hits = useHits(typed);
  const open = (path: string, searched = typed) => onOpen(path, searched);
  /** In the moment in which the field is there: an effect that comes a little later would lose letters. */
  const begin = useCallback((field: HTMLInputElement | null) => {
    if (!field) return;
    setText(early.current ?? '');
    field.focus();
  }, [early]);
  /** Quicker than the list, which marks its first entry only after it has been drawn: the answer is that entry. */
  const onEnter = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || typed === '' || document.querySelector('.palette-item[data-selected=true]')) return;
    event.preventDefault();
    open(findPath(typed));
  };
  return (
    <Dialog.Root open onOpenChange={(stays) => { if (!stays) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className="dialog palette" aria-describedby={undefined} onCloseAutoFocus={(event) => {
          event.preventDefault();
          if (document.activeElement === document.body && before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
        }} onKeyDown={onEarlyEscape(onClose)}>
          <Dialog.Title className="visually-hidden">Find</Dialog.Title>
          <Command label="Find" shouldFilter={false} loop>
            <Command.Input ref={begin} className="palette-input" value={text} onValueChange={setText} onKeyDown={onEnter} maxLength={255} placeholder="e-mail, session, id, file name, app, process" aria-busy={hits.status === 'asking'} />
            <Command.List className="palette-list" label="Results">
              {typed === '' ? <RecentSearches searches={recent.searches} clear={recent.clear} open={open} /> : (
                <Command.Item value="answer" className="palette-item" onSelect={() => open(findPath(typed))}>
                  <span className="hit-name">Where is <bdi>“{typed}”</bdi>?</span><span className="hit-about soft">the answer, and everything found</span>
                </Command.Item>
              )}
              <Places places={fitting(places, typed)} open={open} />
              {typed === '' ? null : hits.answer?.groups.map((group) => <Group key={group.name} group={group} text={hits.asked} open={open} />)}
            </Command.List>
            {typed === '' ? null : <Status hits={hits} />}
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function fitting(places: readonly Place[], typed: string): readonly Place[] {
  const small = typed.toLowerCase();
  return places.filter(({ title }) => title.toLowerCase().split(' ').some((word) => word.startsWith(small)) || (small !== '' && title.toLowerCase().startsWith(small)));
}

type Open = (path: string, searched?: string) => void;

function RecentSearches({ searches, clear, open }: { searches: readonly string[]; clear: () => void; open: Open }) {
  if (searches.length === 0) return null;
  return (
    <Command.Group heading="Recent searches, kept in this browser">
      {searches.map((text) => <Command.Item key={text} value={`recent ${text}`} className="palette-item" onSelect={() => open(findPath(text), text)}><span className="hit-name"><bdi>{text}</bdi></span></Command.Item>)}
      <Command.Item value="recent-clear" className="palette-item" onSelect={clear}><span className="soft">Forget these searches</span></Command.Item>
    </Command.Group>
  );
}

function Places({ places, open }: { places: readonly Place[]; open: Open }) {
  if (places.length === 0) return null;
  return (
    <Command.Group heading="Pages">
      {places.map(({ path, title }) => <Command.Item key={path} value={`page ${path}`} className="palette-item" onSelect={() => open(path, '')}><span className="hit-name">{title}</span></Command.Item>)}
    </Command.Group>
  );
}

function Group({ group, text, open }: { group: FindGroup; text: string; open: Open }) {
  return (
    <Command.Group heading={`${groupTitles[group.name]}${group.more ? `, ${moreWords(group)}` : ''}`}>
      {group.hits.map((hit, n) => (
        <Command.Item key={n} value={`${group.name} ${n}`} className="palette-item" onSelect={() => open(hitPath(hit, text), text)}><HitLine hit={hit} /></Command.Item>
      ))}
    </Command.Group>
  );
}

/** Said aloud as well: a list that is empty looks like one that has not come. */
function Status({ hits }: { hits: Hits }) {
  const limit = hits.answer ? nameLimit(hits.answer) : null;
  return <p className="palette-status soft" role="status">{statusText(hits)}{limit && hits.status === 'ready' ? ` ${limit}` : ''}</p>;
}

function statusText({ status, answer }: Hits): string {
  if (status === 'asking') return 'Searching …';
  if (status === 'slow') return 'The database did not answer in time. Type more, or try again in a moment.';
  if (status === 'failed') return 'The server could not be asked. Check the connection, or reload to sign in again.';
  return answer?.groups.length === 0 ? 'Nothing in this database is called that.' : '';
}
