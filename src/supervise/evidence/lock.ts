/** The recipient of what is written about another process after its death: the same as that of its own bundles. */
import { type Lock, readLock } from '../../bundle/write/age-key.ts';

/**
 * Taken from AGENTDUMP_RECIPIENT, which the program inherited. Throws `usage` if it is invalid: no bundle is better than an
 * unencrypted one.
 */
export function lockOf({ AGENTDUMP_RECIPIENT: recipient }: NodeJS.ProcessEnv): { lock?: Lock } {
  return recipient?.trim() ? { lock: readLock(recipient) } : {};
}
