var unused = 1
function f( a,b ) {
  if (a == b) { debugger }
  return undefinedName + a;;
}
