import type { FilterState } from '../../server/console/queue-filters.js';
import { stateLooks } from '~/format/state';
import { Shape } from './ui/shape';

export function StateMark({ state }: { state: FilterState }) {
  const { word, tone, shape } = stateLooks[state];
  return <span className={`state tone-${tone}`} data-state={state}><Shape name={shape} />{word}</span>;
}
