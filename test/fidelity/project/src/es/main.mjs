import { area } from './shapes.mjs';

const shapes = [{ kind: 'square', side: 2 }, { kind: 'circle', radius: 1 }];
export const total = shapes.map(area).reduce((a, b) => a + b, 0);
console.log(total.toFixed(2));
