import "./style.css";
import { area } from "../src/es/shapes.mjs";
document.title = String(area({ kind: "square", side: 3 }));
