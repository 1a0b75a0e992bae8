/** `npx leaseboard …`: answers on stdout, everything else on stderr, exit 1 when something is wrong. */
import { Command, CommanderError } from 'commander';
import { addAccountCommands } from './cli-accounts.js';
import { addActionCommands } from './cli-actions.js';
import { addDoctorCommand } from './cli-doctor.js';
import { addEngineCommands } from './cli-engine.js';
import { addSessionCommands } from './cli-sign-ins.js';
import { addTokenCommands } from './cli-tokens.js';
import { addWebhookCommand } from './cli-webhook.js';
import { runMain } from './run-main.js';

await runMain(async () => {
  const program = new Command('leaseboard')
    .description('Operates the leased rows of this installation. Settings come from the environment, as for npm start.')
    .showHelpAfterError()
    .exitOverride();
  addAccountCommands(program);
  addTokenCommands(program);
  addSessionCommands(program);
  addActionCommands(program);
  addEngineCommands(program);
  addWebhookCommand(program);
  addDoctorCommand(program);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode;
  }
});
