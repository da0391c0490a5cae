/** Names for sessions and supervisors: 16 lower-case hexadecimal digits, without the milliseconds of node:crypto. */
export function newId(): string {
  const words = new Uint32Array(2);
  for (let at = 0; at < words.length; at++) words[at] = Math.random() * 2 ** 32;
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
}
