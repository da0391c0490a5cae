[1 to 5] |> (.map (* 2)) |> console.log
