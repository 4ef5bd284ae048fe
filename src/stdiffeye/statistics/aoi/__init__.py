"""Areas of interest of many viewers: measures with intervals, transitions, two designs, how many viewers are needed."""

from stdiffeye.statistics.aoi.area_report import AreaReport, measure_areas
from stdiffeye.statistics.aoi.designs import DesignDifference
from stdiffeye.statistics.aoi.study_size import ViewersNeeded

__all__ = ["AreaReport", "DesignDifference", "ViewersNeeded", "measure_areas"]
