import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";

// The token in the URL is used up: remove it from bookmarks and the history.
history.replaceState(null, "", "/");
const root = document.getElementById("root");
if (root) createRoot(root).render(<Chat />);
