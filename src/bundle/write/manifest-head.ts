/** The fields of a manifest, and of the first line of the progress file, that describe the bundle as a whole. */
import { randomBytes } from '../../platform/kernel-random.ts';
import { bundleSchemaVersion, type ManifestHead, manifestSchema } from '../layout/bundle.ts';
import { isoTime, nowMs } from './system.ts';

export interface HeadFields {
  program: string;
  verdictKind: string;
  /** 16 lower-case hexadecimal digits; random by default. */
  id?: string;
  /** The time of the trigger; now by default. */
  at?: Date;
  /** Version of agentdump. */
  writer: string;
}

export function manifestHead({ id, at, writer, program, verdictKind }: HeadFields): ManifestHead {
  return {
    schema: manifestSchema,
    version: bundleSchemaVersion,
    id: id ?? randomBytes(8).toString('hex'),
    createdAt: isoTime(at?.getTime() ?? nowMs()),
    writer,
    program,
    verdictKind,
  };
}
