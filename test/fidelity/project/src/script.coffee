square = (x) -> x * x
console.log (square n for n in [1..5])
