/**
 * `testEnvironment: 'agentdump/jest'`: jest's Node environment that tells the preload which test runs, for runs without
 * `agentdump ci`. `withAgentdump(Environment)` does it to any other environment.
 */
import { createRequire } from 'node:module';
import { handleEvents } from '../runners/jest.ts';
import { findTests } from './find-tests.ts';

// biome-ignore lint/suspicious/noExplicitAny: an environment class of jest's or the program's own
type EnvironmentClass = new (...args: any[]) => object;

/** A class of its own: the one that is given stays as it is. */
export function withAgentdump<Base extends EnvironmentClass>(Environment: Base): Base {
  class Watched extends Environment {
    // Its own, so that what the base does with an event is still done.
    handleTestEvent(event: unknown, state: unknown): unknown {
      const handle = (Environment.prototype as { handleTestEvent?: (...args: unknown[]) => unknown })
        .handleTestEvent;
      return handle?.call(this, event, state);
    }
  }
  const tests = findTests();
  if (tests) handleEvents(Watched as unknown as new () => unknown, tests);
  return Watched as Base;
}

/** jest's own, as the program has it. */
function findNodeEnvironment(): EnvironmentClass {
  const fromProgram = createRequire(`${process.cwd()}/x.js`);
  const fromJest = createRequire(fromProgram.resolve('jest/package.json'));
  const find = (name: string): string => {
    try {
      return fromProgram.resolve(name);
    } catch {
      return createRequire(fromJest.resolve('jest-cli/package.json')).resolve(name);
    }
  };
  return (fromProgram(find('jest-environment-node')) as { TestEnvironment: EnvironmentClass })
    .TestEnvironment;
}

export default withAgentdump(findNodeEnvironment());
