/** Source of a program that lives until somebody has left a bundle in the dump folder, or a minute. */
export function untilBundle(dir: string): string {
  return `const isThere = () => require('node:fs').readdirSync(${JSON.stringify(dir)}).some((name) => name.endsWith('.agentdump'));
    setTimeout(() => process.exit(), 60_000);
    setInterval(() => isThere() && process.exit(), 50);`;
}
