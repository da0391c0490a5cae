// The suite of LangGraph's authors wants vitest and its globals.
export default { test: { globals: true, include: ['*.conformance.mjs'], cache: false } };
