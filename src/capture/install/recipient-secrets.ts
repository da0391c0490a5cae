/**
 * The secrets in AGENTDUMP_RECIPIENT, which must not be in any part: a passphrase opens the bundle, and the recipients are
 * private.
 */

/** The known values for the redactor. The path of a file is not one, and the contents of the file are not in the process. */
export function secretsOfRecipient(recipient = ''): string[] {
  const passphrase = /^\s*passphrase:(.*)$/s.exec(recipient)?.[1];
  if (passphrase !== undefined) return [recipient, passphrase];
  return recipient.split(/[\s,]+/).filter((word) => word.startsWith('age1'));
}
