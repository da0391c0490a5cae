const count: number = 'three';
export const length = count.size;
