import { redirect } from '@remix-run/node';
import { firstQueue } from '../../server/console/queue-of-url.js';
import { queuePath } from '~/format/filters';

export function loader() {
  return redirect(queuePath(firstQueue().slug));
}
