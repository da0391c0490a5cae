/** The half of the preload that knows of tests: compiled below `agentdump ci`, or when an explicit reporter asks. */
export { installTestWatch } from '../../testing/install.ts';
