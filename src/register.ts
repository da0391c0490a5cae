/** The preload: `node --require agentdump/register app.js`, or --import, or NODE_OPTIONS. Built into one CommonJS file. */
import { loadColdHalf } from './capture/install/half-loader.ts';
import { install } from './capture/install/install.ts';
import { isOwnCommand } from './capture/install/own-command.ts';
import { holdFaults } from './capture/triggers/hold-faults.ts';

// The API module loads this file only for `install`, and sets this flag before.
if (!(globalThis as Record<symbol, unknown>)[Symbol.for('agentdump.loadOnly')] && !isOwnCommand()) {
  install();
  holdFaults(process.env);
}

// loadColdHalf: for the watchdog's thread, if the main thread can't be interrupted.
export { install, loadColdHalf };
