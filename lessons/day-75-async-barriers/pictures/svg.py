"""A few shapes as SVG text, in the colours of the course's pictures.

Every picture brings its own background, so that it can be read on a light page as on a dark one,
also where the page's colours and the system's differ. The bytes depend on the arguments alone.
"""

from html import escape

FONT = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
LIGHT = dict(bg="#ffffff", ink="#1f2328", dim="#59636e", faint="#d1d9e0", buffer="#f6f8fa",
             p="#0969da", pf="#ddf4ff", c="#bc4c00", cf="#fff1e5")
DARK = dict(bg="#0d1117", ink="#f0f6fc", dim="#9198a1", faint="#3d444d", buffer="#151b23",
            p="#4493f8", pf="#121d2f", c="#f0883e", cf="#2b1d12")


def palette(colours):
    """The style rules of one mode: p for producers, c for consumers."""
    rules = ["text{fill:%(ink)s}", ".bg{fill:%(bg)s;stroke:%(faint)s}", ".dim{fill:%(dim)s}",
             ".line{stroke:%(ink)s}", ".faint{stroke:%(faint)s}", ".tip{fill:%(ink)s}",
             ".buffer{fill:%(buffer)s;stroke:%(dim)s}",
             ".p{fill:%(pf)s;stroke:%(p)s}", ".c{fill:%(cf)s;stroke:%(c)s}",
             ".pl{stroke:%(p)s}", ".cl{stroke:%(c)s}", ".pt{fill:%(p)s}", ".ct{fill:%(c)s}"]
    return "".join(rule % colours for rule in rules)


class Picture:
    """Collects shapes; `text()` is the whole file."""

    def __init__(self, width, height, title, description):
        self.size = (width, height)
        self.lines = [f"<title>{escape(title)}</title>", f"<desc>{escape(description)}</desc>"]
        self.box(0.5, 0.5, width - 1, height - 1, "bg", 8)

    def box(self, x, y, width, height, kind, radius=4):
        self.lines.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" '
                          f'height="{height}" rx="{radius}"/>')

    def text_at(self, x, y, words, kind="", anchor="middle", size=15):
        self.lines.append(f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}" '
                          f'font-size="{size}">{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, kind="line", tip=False, dash=""):
        end = f' marker-end="url(#{kind})"' if tip else ""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.lines.append(f'<path class="{kind}" d="M{x1} {y1}L{x2} {y2}"{dashes}{end}/>')

    def text(self):
        width, height = self.size
        fixed = (f"text{{font-family:{FONT}}}path{{fill:none;stroke-width:2}}"
                 "rect{stroke-width:1.5}.b{font-weight:600}")
        tips = "".join(
            f'<marker id="{line}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" '
            f'markerHeight="5" orient="auto"><path class="{fill}" style="stroke:none" '
            f'd="M0 0L8 4L0 8z"/></marker>'
            for line, fill in (("pl", "pt"), ("cl", "ct"), ("line", "tip")))
        # The fixed rule fills no path, so the tips of arrows say their colour in the palette.
        style = (f"<style>{fixed}{palette(LIGHT)}"
                 f"@media (prefers-color-scheme:dark){{{palette(DARK)}}}</style>")
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" role="img">')
        return "\n".join([head, *self.lines[:2], style, f"<defs>{tips}</defs>",
                          *self.lines[2:], "</svg>", ""])
