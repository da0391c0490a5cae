export default {
  testDir: '.',
  testMatch: 'playwright.spec.mjs',
  reporter: 'line',
  outputDir: process.env.AGENTDUMP_TEST_OUTPUT,
};
