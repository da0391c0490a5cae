interface Order {
  id: number;
}
function price(order: Order): number {
  if (order.id > 1) throw new Error(`no price for ${order.id}`);
  return 10;
}
console.log(price({ id: 1 }));
price({ id: 2 });
