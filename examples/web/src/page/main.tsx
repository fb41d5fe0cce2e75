import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";

// The token of the address is used up: keep it out of bookmarks and of the history.
history.replaceState(null, "", "/");
const root = document.getElementById("root");
if (root) createRoot(root).render(<Chat />);
