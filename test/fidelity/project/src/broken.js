const broken = {
  a: 1,
function (
