"""Leaderboards of cards, as pages that need no server.

:func:`write_board` turns cards into a static site: a leaderboard for each protocol and set of truths, a page per system and per
image, downloads. It needs the extra ``report``. :func:`check_cards` and :func:`check_site` are for the repository that keeps the
cards: is every card sound, and are the numbers on the site those that the cards give?
"""

from hyperacuity.board.checks import CheckedCard, check_cards, check_site
from hyperacuity.board.leaderboards import Contender, Leaderboard, make_leaderboards
from hyperacuity.board.site import WrittenBoard, write_board
from hyperacuity.board.submissions import CardProblem, Submission, card_files, read_submissions

__all__ = [
    "CardProblem",
    "CheckedCard",
    "Contender",
    "Leaderboard",
    "Submission",
    "WrittenBoard",
    "card_files",
    "check_cards",
    "check_site",
    "make_leaderboards",
    "read_submissions",
    "write_board",
]
