/** `environment.json`: variables (each kept or withheld by a rule) and the machine. */
import { type EnvironmentPart, partNames } from '../../bundle/layout/bundle.ts';
import { readMachine } from '../../platform/machine.ts';
import { uproot, withCanary } from '../fatal-path/canary.ts';
import { currentPolicy } from '../install/policy.ts';
import type { PartProducer } from './part.ts';

export const environmentPart: PartProducer = {
  name: partNames.environment,
  isVital: true,
  produce(): EnvironmentPart {
    const variables = currentPolicy().environment(withCanary({ ...process.env }));
    uproot(variables);
    return {
      variables,
      os: readMachine().os,
    };
  },
};
