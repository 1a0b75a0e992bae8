import { redirect } from '@remix-run/node';
import { queues } from '../../server/lease/queues.js';
import { queuePath } from '~/format/filters';

/** The queue nearest to the work; the rail names the others. */
export function loader() {
  return redirect(queuePath(queues[0]!.slug));
}
