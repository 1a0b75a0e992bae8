import type { LoaderFunctionArgs } from '@remix-run/node';
import { unlessTooSlow } from '../../server/console/read.js';
import { readSeries } from '../../server/console/series.js';
import { requireOperator } from '~/require-operator.server';

export function loader({ context }: LoaderFunctionArgs) {
  requireOperator(context);
  return unlessTooSlow(readSeries(context.world.kysely));
}
