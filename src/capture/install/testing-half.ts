/** The half of the preload for tests: compiled under `agentdump ci`, or when an explicit reporter asks for it. */
export { installTestWatch } from '../../testing/install.ts';
