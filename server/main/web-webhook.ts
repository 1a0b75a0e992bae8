import { createWebhook, type Webhook } from '../webhook/webhook.js';
import type { AttentionOf } from '../webhook/conditions.js';
import { consoleUrl } from './first-access.js';
import type { World } from './world.js';

/** The webhook of this process; null where WEBHOOK_URL is unset, and then nothing is recorded either. */
export function createTelling({ config, pool, kysely, log, listener }: World, attentionOf: AttentionOf, port: number): Webhook | null {
  const { webhookUrl } = config;
  if (!webhookUrl) return null;
  return createWebhook({ config: { ...config, webhookUrl }, pool, kysely, log, attentionOf, listenerUp: () => listener.state().up, origin: consoleUrl({ ...config, port }) });
}
