/**
 * The trial of store-trial.ts: `npm run trial:store [deaths]`, 1,000 by default. Prints a line, and exits with 1 if a death is
 * missing or stored twice, or a bundle is torn.
 */
import { storeTrial } from './store-trial.ts';

const { lost, twice, torn, ...trial } = await storeTrial(Number(process.argv[2] ?? 1000));
console.log(
  `${trial.deaths} deaths by ${trial.senders} senders, of which ${trial.killedSenders} were killed, as were the service ${trial.killedServices} times and the database ${trial.killedDatabases} times: lost ${lost}, twice ${twice}, torn ${torn}; ${trial.issues} of ${trial.faults} faults`,
);
if (lost || twice || torn || trial.issues !== trial.faults) process.exitCode = 1;
