// Loaded before a victim: hands it the secrets of the file that PLANTS names, and tells its flight recorder some.
const { readFileSync } = require('node:fs');
const plants = JSON.parse(readFileSync(process.env.PLANTS, 'utf8'));
globalThis.plants = plants;
const host = globalThis[Symbol.for('agentdump.host')];
for (const value of plants.withheld) host?.withhold(value);
host?.state.set('agent', { ...plants.state, cache: new Map([[plants.withheld[1], 'by token']]) });
host?.providers.set('environment', () => plants.provided);
module.exports = plants.strings.map((text) => ({ text, upper: `${text} again` }));
