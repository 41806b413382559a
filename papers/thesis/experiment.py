"""The experiments of chapters 3, 4 and 5 of the thesis, combined.

The thesis is "Research on Privacy-Preserving Data Publishing Algorithms Based on Different Anonymity Requests",
a doctoral thesis of Jilin University, 2018.
"""

from __future__ import annotations

from collections.abc import Mapping

from papers._reproduction import Reproduction, run_jobs
from papers.thesis import chapter_3, chapter_4, chapter_5
from papers.thesis.setting import THESIS_ROWS, ThesisGrid, ThesisSubject, census_subject
from sfumato._progress import Progress, ignore_progress

CHAPTERS = tuple(THESIS_ROWS)


def reproduce_thesis(
    grid: ThesisGrid | None = None,
    *,
    rows: int | None = None,
    subject: ThesisSubject | None = None,
    workers: int = 1,
    progress: Progress = ignore_progress,
) -> Reproduction:
    """Repeat the experiments of the thesis.

    Parameters
    ----------
    grid : the parameters; by default `ThesisGrid()`, which are the thesis's.
    rows : the number of records of each made-up census; by default as many as in the thesis.
    subject : a table to use in every chapter, instead of a made-up census.
    workers : the number of processes that measure at once.
    progress : is called with the share that is done.
    """
    grid = ThesisGrid() if grid is None else grid
    subjects: Mapping[int, ThesisSubject] = {
        chapter: census_subject(chapter, rows=rows, seed=grid.seed) if subject is None else subject
        for chapter in CHAPTERS
    }
    tasks = {
        **{(5, key): task for key, task in chapter_5.measurement_jobs(subjects[5], grid).items()},
        **{(4, key): task for key, task in chapter_4.measurement_jobs(subjects[4], grid).items()},
        **{(3, key): task for key, task in chapter_3.measurement_jobs(subjects[3], grid).items()},
    }
    results = dict(zip(tasks, run_jobs(list(tasks.values()), workers=workers, progress=progress), strict=True))
    by_chapter = {
        chapter: {key: points for (where, key), points in results.items() if where == chapter} for chapter in CHAPTERS
    }
    return Reproduction.merge(
        [
            chapter_3.make_figures(subjects[3], by_chapter[3], grid),
            chapter_4.make_figures(subjects[4], by_chapter[4], grid),
            chapter_5.make_figures(subjects[5], by_chapter[5], grid, by_chapter[4]),
        ]
    )
