import { dies } from './deaths.mjs';

await dies();
