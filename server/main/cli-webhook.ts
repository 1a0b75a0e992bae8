import type { Command } from 'commander';
import { testMessage } from '../webhook/message.js';
import { noteWell } from '../webhook/outbox.js';
import { hostOf, post } from '../webhook/post.js';
import { answer, withDatabaseUp } from './cli-session.js';
import { knownConsole } from './first-access.js';

/** webhook. */
export function addWebhookCommand(program: Command): void {
  const webhook = program.command('webhook').description('what WEBHOOK_URL is told');
  webhook.command('test').description('send a test message now; exit 1 when it is not taken').action(sendTest);
}

/** Not tried again: whoever asked sees the answer. A receiver that takes it gets at once what waits. */
const sendTest = () => withDatabaseUp(async ({ config, pool }) => {
  const { webhookUrl } = config;
  if (!webhookUrl) throw new Error('WEBHOOK_URL is not set for this command. Give it the environment of the web processes.');
  const delivery = await post(webhookUrl, testMessage(knownConsole(config)), new AbortController().signal);
  if (delivery.outcome === 'taken') {
    await noteWell(pool);
    return answer(`${hostOf(webhookUrl)} took the test message.`);
  }
  answer(`${hostOf(webhookUrl)} did not take the test message: it ${delivery.trouble}. Check WEBHOOK_URL and its receiver.`);
  process.exitCode = 1;
});
