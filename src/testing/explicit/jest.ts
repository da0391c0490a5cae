/**
 * `testEnvironment: 'agentdump/jest'`: jest's Node environment, extended to report the running test to the preload, for runs
 * without `agentdump ci`. `withAgentdump(Environment)` extends any other environment.
 */
import { createRequire } from 'node:module';
import { handleEvents } from '../runners/jest.ts';
import { findTests } from './find-tests.ts';

// biome-ignore lint/suspicious/noExplicitAny: an environment class of jest's or the program's own
type EnvironmentClass = new (...args: any[]) => object;

/** Returns a subclass; the given class is not changed. */
export function withAgentdump<Base extends EnvironmentClass>(Environment: Base): Base {
  class Watched extends Environment {
    // Defined on the subclass and calls the base class, so that its handling of events is kept.
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

/** The version of jest that the program uses. */
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
