export default function Page() {
  return <p>See /api/tools.</p>;
}
