/** `environment.json`: variables (each kept or withheld by a rule) and the machine. */
import { cpus, hostname, loadavg, release, type, uptime, version } from 'node:os';
import { type EnvironmentPart, partNames } from '../../bundle/layout.ts';
import { currentPolicy } from '../policy.ts';
import type { PartProducer } from './part.ts';

export const environmentPart: PartProducer = {
  name: partNames.environment,
  produce(): EnvironmentPart {
    return {
      variables: currentPolicy().environment({ ...process.env }),
      os: {
        type: type(),
        release: release(),
        version: version(),
        hostname: hostname(),
        uptimeSeconds: Math.round(uptime()),
        loadAverage: loadavg(),
        cpus: cpus().length,
      },
    };
  },
};
