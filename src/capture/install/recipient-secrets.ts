/** What of AGENTDUMP_RECIPIENT must be seen in no part: a passphrase opens the bundle, and who reads it is nobody's affair. */

/** The known values for the redactor. A file's path is none, and what the file holds is not in the process. */
export function secretsOfRecipient(recipient = ''): string[] {
  const passphrase = /^\s*passphrase:(.*)$/s.exec(recipient)?.[1];
  if (passphrase !== undefined) return [recipient, passphrase];
  return recipient.split(/[\s,]+/).filter((word) => word.startsWith('age1'));
}
