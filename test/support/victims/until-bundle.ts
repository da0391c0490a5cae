/** Source of a program that runs until there is a bundle in the dump folder, for at most a minute. */
export function untilBundle(dir: string): string {
  return `const isThere = () => require('node:fs').readdirSync(${JSON.stringify(dir)}).some((name) => name.endsWith('.agentdump'));
    setTimeout(() => process.exit(), 60_000);
    setInterval(() => isThere() && process.exit(), 50);`;
}
