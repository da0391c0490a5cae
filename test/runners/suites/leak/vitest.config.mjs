export default { test: { include: ['leak/vitest.mjs'] } };
