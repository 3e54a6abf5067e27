"""A study's report: claims, advice, figures and tables, from what is in MLflow at this moment."""

from analysis.report.write import Report, write_report

__all__ = ["Report", "write_report"]
