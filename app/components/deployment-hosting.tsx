import type { Hosting } from '../../server/console/deployments.js';
import { Banner } from './ui/banner';

/** Says when publishes do not lead to a real hosting. */
export function HostingNote({ hosting }: { hosting: Hosting }) {
  if (hosting === 'stub') return <Banner><span>Publishes go to the stub orchestrator that comes with the embedded start: nothing is really built. Set <code>ORCHESTRATOR_URL</code> for a real hosting.</span></Banner>;
  if (hosting === 'none') return <Banner><span>No orchestrator is configured: publishes are answered with 503 <code>publish_not_configured</code>. Set <code>ORCHESTRATOR_URL</code> for web and worker.</span></Banner>;
  return null;
}
