"""The paper's findings, each a function from a study's results to a verdict with its numbers."""

from analysis.claims.claim import Claim, Verdict
from analysis.claims.findings import FINDINGS, claims

__all__ = ["FINDINGS", "Claim", "Verdict", "claims"]
