/** Who may read what is written about another process after its death: whoever might have read what it wrote itself. */
import { type Lock, readLock } from '../../bundle/write/age-key.ts';

/** Of AGENTDUMP_RECIPIENT, which the program inherited. Throws `usage`: rather no bundle than a clear one. */
export function lockOf({ AGENTDUMP_RECIPIENT: recipient }: NodeJS.ProcessEnv): { lock?: Lock } {
  return recipient?.trim() ? { lock: readLock(recipient) } : {};
}
