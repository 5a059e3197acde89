"""Lenses: samples of one type seen as another, and written back."""

from headrace.lens.fields import FieldsLens
from headrace.lens.laws import LawReport, Violation
from headrace.lens.lens import Lens, lens
from headrace.lens.network import LensNetwork

__all__ = ["FieldsLens", "LawReport", "Lens", "LensNetwork", "Violation", "lens"]
