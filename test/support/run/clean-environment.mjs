// Below our own `agentdump ci`: the test process keeps its recorder, and what it starts is as clean as without us.
if (process.env.NODE_TEST_CONTEXT && process.env.AGENTDUMP_CI) {
  for (const name of Object.keys(process.env)) if (name.startsWith('AGENTDUMP_')) delete process.env[name];
  process.env.NODE_OPTIONS = '';
}
