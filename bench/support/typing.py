"""Types into a program in its own terminal and answers on standard output with one line of JSON:
{"keys": [milliseconds from each key to the screen], "idle": CPU seconds in IDLE seconds of rest before that}.
Takes {"argv", "env", "cwd", "ready", "start", "started", "keys"} on standard input: waits for `ready`, rests, types the line
`start`, and when `started` is shown types a letter again and again while the answer streams."""
import fcntl, json, os, pty, re, select, signal, struct, sys, termios, time

LONGEST = 60
IDLE = 3
LETTER = "Z"
SIZE = struct.pack("HHHH", 30, 100, 0, 0)
TICK = os.sysconf("SC_CLK_TCK")


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Program:
    def __init__(self, argv, env, cwd):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(argv[0], argv, env)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, SIZE)
        self.shown = ""

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read(self, seconds):
        if select.select([self.terminal], [], [], seconds)[0]:
            self.shown = (self.shown + os.read(self.terminal, 1 << 20).decode("utf8", "replace"))[-200000:]

    def until(self, wanted):
        started = time.monotonic()
        self.shown = ""
        while wanted not in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.shown):
            if time.monotonic() - started > LONGEST:
                raise SystemExit(f"never showed {wanted!r}: {self.shown[-500:]!r}")
            self.read(0.5)
        return (time.monotonic() - started) * 1000

    def end(self):
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


task = json.load(sys.stdin)
program = Program(task["argv"], task["env"], task["cwd"])
try:
    program.until(task["ready"])
    # What is still being loaded is no rest.
    quiet = time.monotonic()
    while time.monotonic() - quiet < 2:
        program.read(0.5)
    before = cpu(program.pid)
    rest = time.monotonic()
    while time.monotonic() - rest < IDLE:
        program.read(0.5)
    idle = cpu(program.pid) - before
    program.type(task["start"] + "\r")
    program.until(task["started"])
    times = []
    for count in range(1, task["keys"] + 1):
        pause = time.monotonic()
        while time.monotonic() - pause < 0.05:
            program.read(0.01)
        program.type(LETTER)
        times.append(program.until("\u203a " + LETTER * count))
    print(json.dumps({"keys": times, "idle": idle}))
finally:
    program.end()
