import { Shape } from './ui/shape';
import type { Answered } from '~/acting';

const looks = {
  applied: { tone: 'done', shape: 'tick', word: 'Done.' },
  refused: { tone: 'stale', shape: 'dash', word: 'Refused.' },
  not_done: { tone: 'low', shape: 'dash', word: 'Not done.' },
  unknown: { tone: 'low', shape: 'alert', word: 'Not known.' },
} as const;

/** What became of the press, in the words of whoever answered. */
export function AnswerNote({ answer }: { answer: Answered }) {
  const { tone, shape, word } = looks[answer.outcome];
  return (
    <p className={`action-note tone-${tone}`} role="alert" data-outcome={answer.outcome} data-code={('code' in answer && answer.code) || undefined}>
      <Shape name={shape} /> <b>{word}</b> <bdi>{answer.text}</bdi>
    </p>
  );
}
