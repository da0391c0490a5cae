start = a:number "+" b:number { return a + b; }
number = digits:[0-9]+ { return Number(digits.join("")); }
