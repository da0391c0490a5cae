import { area, type Shape } from './shapes';

enum Unit {
  Metre = 'm',
}

const shapes: Shape[] = [{ kind: 'square', side: 2 }, { kind: 'circle', radius: 1 }];
console.log(shapes.map(area).reduce((a, b) => a + b, 0).toFixed(1), Unit.Metre);
