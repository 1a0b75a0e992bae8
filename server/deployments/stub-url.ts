/** The stub lives below this path, so that its URL alone says what it is, wherever the URL is shown or configured. */
export const STUB_PATH = '/stub-orchestrator';

/** Whether publishes go to the stub: nothing is really built then, and the console says so. */
export function isStub(orchestratorUrl: string | undefined): boolean {
  return orchestratorUrl !== undefined && new URL(orchestratorUrl).pathname.replace(/\/$/, '') === STUB_PATH;
}
